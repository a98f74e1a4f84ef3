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

// request is one message to a node, and what the node has answered. It is a part of an exchange, which is also the other end's.
type request struct {
	network.Exchange
	requests    [][]string // the words of each
	replies     [][]byte
	deadline    time.Time // of who waits for the reply; zero if it is not known
	isOfLibrary bool
	intents     intents // shared by the connections of a run
}

// executor carries out the commands of a connection.
type executor interface {
	carryOut(args []string) []byte
	// gone says that the connection has ended. What a WAIT keeps up is not carried out any more then.
	gone() bool
	// over is told that the commands of a request have been carried out.
	over()
}

// execute answers what has arrived of the request, and is not answered yet. A WAIT keeps up what comes behind it.
func (x *request) execute(by *redis.Server, on executor) {
	for _, args := range x.requests[len(x.replies):x.Arriving(len(x.requests))] {
		if !strings.EqualFold(args[0], "wait") {
			x.replies = append(x.replies, on.carryOut(args))
			continue
		}
		by.Wait(args[1:], func(value any) {
			x.replies = append(x.replies, []byte(encoded(value, "")))
			switch {
			case on.gone():
			case len(x.replies) < x.Arriving(len(x.requests)):
				by.GoOn(&x.Exchange, func() { x.execute(by, on) })
			default:
				x.ends(on)
			}
		})
		return
	}
	x.ends(on)
}

func (x *request) ends(on executor) {
	x.Reply()
	on.over()
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
func (x *request) Name() string { return upper(x.requests[0][0]) }

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

var _, _ redis.Request = (*exchange)(nil), (*message)(nil)
