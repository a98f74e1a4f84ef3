package dpor

import _ "redlocksim/internal/manyruns"
