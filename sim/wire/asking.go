package wire

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/redisnode"
	"redlocksim/redlock/driver"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// request is one message on its way to a node and back, of one command or several. It outlives its connection: a message that
// the client has given up may still arrive.
type request struct {
	network.Exchange
	on          connection
	requests    [][]string // the words of each
	replies     [][]byte
	deadline    time.Time // of who waits for the reply; zero if it is not known
	isOfLibrary bool
	intents     intents // shared by the connections of a run
}

// connection is what requests are sent on: a conn of go-redis, or a stream of bytes.
type connection interface {
	// begins says whether the node carries out a request that has arrived, or the connection has it wait for others.
	begins(*request) bool
	// carryOut has the node carry out a command.
	carryOut(m *memory, args []string) []byte
	// gone says that the connection has ended. What a WAIT keeps up is not carried out any more then.
	gone() bool
	// over is told that the node has carried out the commands of a request.
	over(m *memory)
	// answered is told of what has come to the client of the replies to a request; isReset: nothing more does.
	answered(x *request, replies [][]byte, isReset bool)
	// Broken is told that the connection was reset or refused.
	Broken()
}

// Answered implements network.Client.
func (x *request) Answered() {
	answered, isReset := x.Answers(len(x.requests))
	x.on.answered(x, x.replies[:answered], isReset)
}

// Broken implements network.Client.
func (x *request) Broken() { x.on.Broken() }

// execute has the node carry out the request that has arrived.
func (x *request) execute(m *memory) {
	if x.on.begins(x) {
		x.goOn(m)
	}
}

// goOn answers what has arrived of the request, and is not answered yet. A WAIT keeps up what comes behind it.
func (x *request) goOn(m *memory) {
	for _, args := range x.requests[len(x.replies):x.Arriving(len(x.requests))] {
		if !strings.EqualFold(args[0], "wait") {
			x.replies = append(x.replies, x.on.carryOut(m, args))
			continue
		}
		m.server.Wait(args[1:], func(value any) {
			x.replies = append(x.replies, []byte(encoded(value, "")))
			switch {
			case x.on.gone():
			case len(x.replies) < x.Arriving(len(x.requests)):
				m.server.GoOn(&x.Exchange, func() { x.goOn(m) })
			default:
				x.ends(m)
			}
		})
		return
	}
	x.ends(m)
}

func (x *request) ends(m *memory) {
	x.Reply()
	x.on.over(m)
}

// Requests implements network.Batch.
func (x *request) Requests() int { return len(x.requests) }

// Purpose implements network.Purposeful.
func (x *request) Purpose() string {
	words := make([]string, len(x.requests))
	for i, request := range x.requests {
		words[i] = strings.ToUpper(request[0])
	}
	return strings.Join(words, ", ")
}

// Name implements redis.Request.
func (x *request) Name() string { return strings.ToUpper(x.requests[0][0]) }

// Answer implements redis.Request.
func (x *request) Answer(value any) {
	x.replies = slices.Repeat([][]byte{[]byte(encoded(value, ""))}, x.Arriving(len(x.requests)))
}

// Commands implements redis.Request.
func (x *request) Commands(all []redis.Command) []redis.Command {
	for i, words := range x.requests {
		c := x.command(words)
		if x.isOfLibrary {
			if slices.ContainsFunc(c.Keys, driver.IsLineKey) {
				c.Args = c.Args[:min(1, len(c.Args))] // the value; what follows is about the line
			}
			c.Keys = ofLocks(c.Keys)
			c.Latest = len(x.requests) > 1 || len(c.Keys) > 1
		}
		if i < len(x.replies) && x.isOfLibrary {
			c.Answer = outcomeOf(x.replies[i])
		}
		all = append(all, c)
	}
	return all
}

// ofLocks are the keys of locks among those of a command of the library; all of them, if it is about no lock.
func ofLocks(keys []string) []string {
	isOther := func(key string) bool { return !driver.IsLockKey(key) }
	if !slices.ContainsFunc(keys, isOther) {
		return keys
	}
	if locks := slices.DeleteFunc(slices.Clone(keys), isOther); len(locks) > 0 {
		return locks
	}
	return keys
}

// intents are what scripts want, by their sources and by their hashes.
type intents map[string]redis.Intent

// of is what the script with a source wants.
func (all intents) of(source string) redis.Intent {
	intent, known := all[source]
	if !known {
		if op, is := redisnode.OpOf(source); is {
			intent = redis.IntentOfOp(op)
		} else {
			intent = redis.IntentOf(source)
		}
		hash := sha1.Sum([]byte(source))
		all[source], all[hex.EncodeToString(hash[:])] = intent, intent
	}
	return intent
}

// command is what a request wants.
func (x *request) command(words []string) redis.Command {
	name := strings.ToUpper(words[0])
	if name != "EVAL" && name != "EVALSHA" || len(words) < 3 {
		return redis.PlainCommand(words, x.deadline)
	}
	intent, source := x.intents[words[1]], "" // a hash is known: the library sends the source first, and see plainRedis
	if name == "EVAL" {
		intent = x.intents.of(words[1])
		if x.isOfLibrary {
			source = words[1]
		}
	}
	n, err := strconv.Atoi(words[2])
	if err != nil || n < 0 || n > len(words)-3 {
		return redis.Command{}
	}
	return redis.Command{Intent: intent, Keys: words[3 : 3+n], Args: words[3+n:], Deadline: x.deadline, Source: source}
}

// outcomeOf is what a reply to the library says, if it is about a single command: a number, or a list that begins with one, as
// the adapter's scripts answer.
func outcomeOf(reply []byte) driver.Outcome {
	kind, rest := reply[0], string(reply[1:])
	line, rest, _ := strings.Cut(rest, "\r\n")
	switch {
	case kind == '+' && line == "OK":
		return driver.Accepted
	case kind == '$' && line == "-1", kind == '*' && line == "-1":
		return driver.Declined
	case kind == '*' && strings.HasPrefix(rest, ":"):
		line, _, _ = strings.Cut(rest[1:], "\r\n")
	case kind != ':':
		return driver.Failed
	}
	switch line {
	case "1", "2":
		return driver.Accepted
	case "0":
		return driver.Declined
	case "-1":
		return driver.Behind
	case "-2":
		return driver.Quarantined
	}
	return driver.Failed
}

// Phrases implements redis.Request. It gives none for a program that speaks to the server without the library.
func (x *request) Phrases() []redis.Phrase {
	if !x.isOfLibrary {
		return nil
	}
	all := make([]redis.Phrase, len(x.requests))
	for i, words := range x.requests {
		all[i] = redis.Phrase{Command: strings.ToUpper(words[0]), Keys: 1}
		if strings.HasPrefix(all[i].Command, "EVAL") {
			all[i].Keys, _ = strconv.Atoi(words[2]) // the server says what is wrong with it
		}
	}
	return all
}

var _ redis.Request = (*request)(nil)
