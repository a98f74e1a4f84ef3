package checker

import _ "redlocksim/internal/manyruns"
