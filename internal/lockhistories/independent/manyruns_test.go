package independent

import _ "redlocksim/internal/manyruns"
