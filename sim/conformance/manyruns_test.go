package conformance

import _ "redlocksim/internal/manyruns"
