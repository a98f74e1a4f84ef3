package wire

import (
	"fmt"

	"redlocksim/sim"
)

// Command implements sim.Asking.
func (x *exchange) Command() []string {
	args, _ := parse(x.request)
	return args
}

// Answer implements sim.Asking.
func (x *exchange) Answer(value any) {
	if e, isError := value.(sim.ServerError); isError {
		x.reply = fmt.Appendf(nil, "-%s\r\n", string(e))
	} else {
		x.reply = fmt.Appendf(nil, ":%d\r\n", value)
	}
}

var _ sim.Asking = (*exchange)(nil)
