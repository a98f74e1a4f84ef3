package orders

import _ "redlocksim/internal/manyruns"
