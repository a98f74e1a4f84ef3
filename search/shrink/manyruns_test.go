package shrink_test

import _ "redlocksim/internal/manyruns"
