package wire

import (
	"fmt"
	"slices"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/redis"
)

// Command implements redis.Asking. Of several requests, which are all the library's and write, it is the first.
func (x *exchange) Command() []string { return x.requests[0] }

// Answer implements redis.Asking.
func (x *exchange) Answer(value any) {
	reply := fmt.Appendf(nil, ":%d\r\n", value)
	if e, isError := value.(rediscmd.ServerError); isError {
		reply = fmt.Appendf(nil, "-%s\r\n", string(e))
	}
	x.replies = slices.Repeat([][]byte{reply}, x.Arriving(len(x.requests)))
}

var _ redis.Asking = (*exchange)(nil)
