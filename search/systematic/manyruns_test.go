package systematic

import _ "redlocksim/internal/manyruns"
