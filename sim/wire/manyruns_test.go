package wire_test

import _ "redlocksim/internal/manyruns"
