package sweep_test

import _ "redlocksim/internal/manyruns"
