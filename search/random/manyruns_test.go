package random_test

import _ "redlocksim/internal/manyruns"
