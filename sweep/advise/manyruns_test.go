package advise_test

import _ "redlocksim/internal/manyruns"
