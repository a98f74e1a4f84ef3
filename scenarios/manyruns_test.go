package scenarios_test

import _ "redlocksim/internal/manyruns"
