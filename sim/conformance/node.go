//go:build linux

package conformance

import (
	"errors"
	"fmt"
	"strings"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// node is a Redis node and one client of it. The wall clock of the node stands still while it answers.
type node interface {
	// call sends a plain command; script has a script call it.
	call(args []string) rediscmd.Reply
	script(args []string) rediscmd.Reply
	// ask sends a command of the library, and counts the round trips that it took.
	ask(c driver.Command) (reply driver.Reply, trips int)
	// subscribe adds a subscriber to a channel, unsubscribe takes the oldest one back, and heard is what each of them hears
	// next, the oldest first, up to a certain message.
	subscribe(channel string)
	unsubscribe(channel string)
	heard(channel, last string) [][]string
	// runID is what INFO gives.
	runID() string
	// restart kills the node, which has no persistence, and starts it again.
	restart()
}

// thisRun stands for the run id of the node in what is sent and in what is compared. It is a run id itself by its form,
// of no node.
const thisRun = "0123456789abcdef"

// callScript is redis.call as a script of its own, which says that it went on after it: an error ends it.
var callScript = &rediscmd.Script{Lua: "return {redis.call(unpack(ARGV)), 'went on'}"}

// callingScript has it call a command.
func callingScript(args []string) rediscmd.Request {
	return rediscmd.Request{Script: callScript, Keys: args[1:min(2, len(args))], Argv: args}
}

// told replaces thisRun in what a node is told.
func told(n node, words []string) []string {
	own := make([]string, len(words))
	for i, w := range words {
		own[i] = strings.ReplaceAll(w, thisRun, n.runID())
	}
	return own
}

// said is a reply as text, with what may differ between nodes left out: the run id, and of errors all but their class.
func said(n node, r rediscmd.Reply) string {
	if r.Err != nil {
		return "error " + class(r.Err)
	}
	return strings.ReplaceAll(fmt.Sprintf("%#v", r.Value), n.runID(), thisRun)
}

// decided is the same for the library's commands.
func decided(n node, r driver.Reply, trips int) string {
	text := fmt.Sprintf("%v token=%d record=%q trips=%d", r.Outcome, r.Token, strings.ReplaceAll(r.Record, n.runID(), thisRun), trips)
	var limit *driver.MaxTTLError
	switch {
	case errors.As(r.Err, &limit):
		return fmt.Sprintf("%s max TTL %v, not %v", text, limit.Node, limit.Client)
	case r.Err != nil:
		return text + " error " + class(r.Err)
	}
	return text
}

// class is the first word of an error reply, which is meant for programs to tell errors apart. It is in capitals, or it is ERR,
// which some client libraries leave out.
func class(err error) string {
	word, _, _ := strings.Cut(err.Error(), " ")
	if word != strings.ToUpper(word) {
		return "ERR"
	}
	return word
}
