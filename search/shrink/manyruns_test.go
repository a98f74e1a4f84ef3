package shrink

import _ "redlocksim/internal/manyruns"
