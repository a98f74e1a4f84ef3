// Package audit says which of the assumptions that somebody's settings rest on hold, with the number that decides, and what
// mends those that do not. It attacks each assumption in the simulator, as it is and at its limit. Start at [Of].
package audit
