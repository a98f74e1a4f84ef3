package model

import (
	"slices"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// Command implements redis.Asking: whatever the library asks writes.
func (x *exchange) Command() []string { return []string{"EVALSHA"} }

// Answer implements redis.Asking.
func (x *exchange) Answer(value any) {
	err, _ := value.(rediscmd.ServerError)
	x.answers = slices.Repeat([]answer{{all: driver.Reply{Outcome: driver.Failed, Err: err}}}, x.Arriving(x.Requests()))
}

// Command implements redis.Asking.
func (x *request) Command() []string {
	if x.Script != nil {
		return []string{"EVALSHA"}
	}
	return x.Args
}

// Answer implements redis.Asking.
func (x *request) Answer(value any) {
	if err, isError := value.(rediscmd.ServerError); isError {
		x.reply = rediscmd.Reply{Err: err}
	} else {
		x.reply = rediscmd.Reply{Value: value}
	}
}

var _, _ redis.Asking = (*exchange)(nil), (*request)(nil)
