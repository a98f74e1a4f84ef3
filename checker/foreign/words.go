package foreign

import (
	"strings"
	"time"
)

// plain is a word as it is looked up: keep-alive, keep_alive and KeepAlive are one.
func plain(word string) string { return strings.ToLower(separators.Replace(word)) }

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// meanings are what words mean, in the form that plain gives them; a table has all words of a meaning together.
func meanings[M comparable](table map[M]string) map[string]M {
	of := map[string]M{}
	for meaning, words := range table {
		for _, word := range strings.Fields(words) {
			of[word] = meaning
		}
	}
	return of
}

// mode says whether others can hold the lock at the same time.
type mode uint8

const (
	unsaid mode = iota
	exclusive
	shared
)

func (m mode) String() string { return [...]string{"", "exclusive", "shared"}[m] }

// modes are the words for a mode, in a field of that name.
var modes = meanings(map[mode]string{shared: "read shared reader r s", exclusive: "write exclusive writer w x"})

// function is what an operation does.
type function uint8

const (
	acquire function = iota
	extend
	release
	// write is one to what the lock protects, with a token.
	write
)

func (f function) String() string { return [...]string{"acquire", "extend", "release", "write"}[f] }

// meaning is what a function of a history does to a lock.
type meaning struct {
	fn   function
	mode mode
}

// functions are the words for what can be done to a lock.
var functions = meanings(map[meaning]string{
	{acquire, unsaid}:    "acquire lock tryacquire trylock acquirelock",
	{extend, unsaid}:     "extend refresh renew heartbeat keepalive extendlock renewlock renewlease",
	{release, unsaid}:    "release unlock releaselock",
	{write, unsaid}:      "write",
	{acquire, shared}:    "readlock rlock acquireread acquireshared lockshared tryreadlock",
	{release, shared}:    "readunlock runlock releaseread releaseshared unlockshared",
	{acquire, exclusive}: "writelock wlock acquirewrite acquireexclusive lockexclusive trywritelock",
	{release, exclusive}: "writeunlock wunlock releasewrite releaseexclusive unlockexclusive",
})

// outcome is what became of an operation, or that a line calls it.
type outcome uint8

const (
	unknown outcome = iota // info, or no return at all
	ok
	failed
	called
)

func (o outcome) String() string { return [...]string{"unknown", "ok", "fail", "invoke"}[o] }

// types are the words for them, in the order of the outcomes.
var types = []string{"info", "ok", "fail", "invoke"}

// field is a field of an operation that means something here.
type field uint8

const (
	noField field = iota // unknown
	// These every history has.
	processField
	typeField
	functionField
	timeField
	indexField
	// The rest may stand in the value, too.
	valueField
	lockField
	tokenField
	modeField
	permitsField
	countField // the number of permits, where the lock is a semaphore
	leaseField // how long a lease lasts
	nameOrLeaseField
	commentField // says why something failed
	fieldCount
)

// fieldNames are the names of fields.
var fieldNames = meanings(map[field]string{
	processField: "process", typeField: "type", functionField: "f", timeField: "time", indexField: "index",
	valueField:       "value",
	lockField:        "key lock name resource lockname lockkey",
	tokenField:       "token fence fencingtoken",
	modeField:        "mode lockmode",
	permitsField:     "permits acquiredpermits numpermits",
	countField:       "count n weight amount tokens",
	leaseField:       "ttl leasetime leaseduration leasettl lockttl lockduration leaselength",
	nameOrLeaseField: "lease",
	commentField:     "error exception",
})

// units are the names of units of time.
var units = meanings(map[time.Duration]string{
	time.Nanosecond: "ns nanos nanoseconds nanosecond", time.Microsecond: "us micros microseconds microsecond",
	time.Millisecond: "ms millis milliseconds millisecond", time.Second: "s sec secs seconds second",
	time.Minute: "m min mins minutes minute", time.Hour: "h hour hours",
})

// numbered are the units that numbers count, the first where nothing tells.
var numbered = []struct {
	unit time.Duration
	name string
}{
	{time.Nanosecond, "nanoseconds"}, {time.Microsecond, "microseconds"}, {time.Millisecond, "milliseconds"}, {time.Second, "seconds"},
}

// unitName is the name of a unit that numbers can count; empty for others.
func unitName(unit time.Duration) string {
	for _, n := range numbered {
		if n.unit == unit {
			return n.name
		}
	}
	return ""
}

// fieldOf is what a field of this name is for. Those that every history has, and that may mean something else, as Name,
// are written in one way only. A length of time may have its unit behind it: ttl_ms, leaseDurationSeconds.
func fieldOf(name string) (field, time.Duration) {
	short := plain(name)
	f, known := fieldNames[short]
	if known && (f > lockField || name == short || strings.HasPrefix(short, "lock")) {
		return f, 0
	}
	at := strings.LastIndexAny(name, "-_ ") + 1
	if at == 0 {
		at = strings.LastIndexFunc(name, func(c rune) bool { return 'A' <= c && c <= 'Z' })
	}
	if at > 0 {
		f, unit := fieldNames[plain(name[:at])], units[plain(name[at:])]
		if unit > 0 && (f == leaseField || f == nameOrLeaseField) {
			return leaseField, unit
		}
	}
	return noField, 0
}
