package foreign

import _ "redlocksim/internal/manyruns"
