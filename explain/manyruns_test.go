package explain_test

import _ "redlocksim/internal/manyruns"
