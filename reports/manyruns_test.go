package reports_test

import _ "redlocksim/internal/manyruns"
