package foreign

import "strings"

// mode says whether others can hold the lock at the same time.
type mode uint8

const (
	unsaid mode = iota
	exclusive
	shared
)

func (m mode) String() string { return [...]string{"", "exclusive", "shared"}[m] }

// meaning is what a function of a history does to a lock.
type meaning struct {
	fn   function
	mode mode
}

// functions are the words for what can be done to a lock, in the form that plain gives them.
var functions = map[string]meaning{
	"acquire": {acquire, unsaid}, "lock": {acquire, unsaid},
	"tryacquire": {acquire, unsaid}, "trylock": {acquire, unsaid},
	"extend": {extend, unsaid}, "refresh": {extend, unsaid}, "renew": {extend, unsaid}, "heartbeat": {extend, unsaid},
	"keepalive":  {extend, unsaid},
	"extendlock": {extend, unsaid}, "renewlock": {extend, unsaid}, "renewlease": {extend, unsaid},
	"acquirelock": {acquire, unsaid}, "releaselock": {release, unsaid},
	"release": {release, unsaid}, "unlock": {release, unsaid},
	"write": {write, unsaid},

	"readlock": {acquire, shared}, "rlock": {acquire, shared},
	"acquireread": {acquire, shared}, "acquireshared": {acquire, shared},
	"lockshared": {acquire, shared}, "tryreadlock": {acquire, shared},
	"readunlock": {release, shared}, "runlock": {release, shared}, "releaseread": {release, shared},
	"releaseshared": {release, shared}, "unlockshared": {release, shared},
	"writelock": {acquire, exclusive}, "wlock": {acquire, exclusive}, "acquirewrite": {acquire, exclusive},
	"acquireexclusive": {acquire, exclusive}, "lockexclusive": {acquire, exclusive},
	"trywritelock": {acquire, exclusive},
	"writeunlock":  {release, exclusive}, "wunlock": {release, exclusive}, "releasewrite": {release, exclusive},
	"releaseexclusive": {release, exclusive}, "unlockexclusive": {release, exclusive},
}

// modes are the words for a mode, in a field of that name.
var modes = map[string]mode{
	"read": shared, "shared": shared, "reader": shared, "r": shared, "s": shared,
	"write": exclusive, "exclusive": exclusive, "writer": exclusive, "w": exclusive, "x": exclusive,
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// plain is a word as it is looked up: keep-alive, keep_alive and KeepAlive are one.
func plain(word string) string { return strings.ToLower(separators.Replace(word)) }
