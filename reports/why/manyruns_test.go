package why_test

import _ "redlocksim/internal/manyruns"
