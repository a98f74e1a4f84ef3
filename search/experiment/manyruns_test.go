package experiment

import _ "redlocksim/internal/manyruns"
