package locktest

import _ "redlocksim/internal/manyruns"
