package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"redlocksim/internal/strictyaml"
)

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
	"acquire": {acquire, unsaid}, "lock": {acquire, unsaid}, "tryacquire": {acquire, unsaid}, "trylock": {acquire, unsaid},
	"extend": {extend, unsaid}, "refresh": {extend, unsaid}, "renew": {extend, unsaid}, "heartbeat": {extend, unsaid},
	"keepalive": {extend, unsaid},
	"release":   {release, unsaid}, "unlock": {release, unsaid},
	"write": {write, unsaid},

	"readlock": {acquire, shared}, "rlock": {acquire, shared}, "acquireread": {acquire, shared}, "acquireshared": {acquire, shared},
	"lockshared": {acquire, shared}, "tryreadlock": {acquire, shared},
	"readunlock": {release, shared}, "runlock": {release, shared}, "releaseread": {release, shared},
	"releaseshared": {release, shared}, "unlockshared": {release, shared},
	"writelock": {acquire, exclusive}, "wlock": {acquire, exclusive}, "acquirewrite": {acquire, exclusive},
	"acquireexclusive": {acquire, exclusive}, "lockexclusive": {acquire, exclusive}, "trywritelock": {acquire, exclusive},
	"writeunlock": {release, exclusive}, "wunlock": {release, exclusive}, "releasewrite": {release, exclusive},
	"releaseexclusive": {release, exclusive}, "unlockexclusive": {release, exclusive},
}

// modes are the words for a mode, in a field of that name.
var modes = map[string]mode{
	"read": shared, "shared": shared, "reader": shared, "r": shared,
	"write": exclusive, "exclusive": exclusive, "writer": exclusive, "w": exclusive, "x": exclusive,
}

// plain is a word as it is looked up: keep-alive, keep_alive and KeepAlive are one.
func plain(word string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(word))
}

// meaningOf is what a function does to a lock, and whether it does anything.
func (o *Options) meaningOf(word string) (meaning, bool) {
	for from, to := range o.Map {
		if plain(from) == plain(word) {
			word = to
			break
		}
	}
	m, known := functions[plain(word)]
	return m, known && (m.fn != write || o.Model.fenced())
}

// validateWords refuses words that say nothing about a lock where they should.
func (o *Options) validateWords() error {
	for _, from := range slices.Sorted(maps.Keys(o.Map)) {
		if _, known := o.meaningOf(o.Map[from]); !known || plain(from) == "" {
			return fmt.Errorf("%w: %q cannot stand for %q: must be acquire, extend or release, or of a read-write lock, as read-lock, or with tokens write",
				ErrOptions, from, o.Map[from])
		}
	}
	for _, f := range o.Only {
		if _, known := o.meaningOf(f); !known {
			return fmt.Errorf("%w: %q is no operation on a lock; there are acquire, extend and release, and their synonyms", ErrOptions, f)
		}
	}
	return nil
}

// function reads what an operation does to the lock. known is false for a word that says nothing about locks.
func (r *reader) function(at int32) (m meaning, known bool, err error) {
	if at == 0 {
		return m, false, notOperation("there is no f")
	}
	t := r.wordOf(&r.s.nodes[at])
	if t == nil {
		return m, false, notOperation("f is no word")
	}
	if m, known := r.meanings[string(t)]; known {
		return m, true, nil
	}
	if len(t) > maxName {
		return m, false, nil
	}
	if m, known = r.o.meaningOf(string(t)); known {
		r.meanings[string(t)] = m
	}
	return m, known, nil
}

// unknownFunction is the error of a function that may or may not do something to the lock. What it advises loses no evidence:
// an extend or release that is left out changes what the others show.
func (r *reader) unknownFunction(at int32) error {
	t := r.wordOf(&r.s.nodes[at])
	t = t[:min(len(t), 40)]
	hint := ";"
	if near, ok := strictyaml.Nearest(string(t), []string{"acquire", "release", "extend", "lock", "unlock", "renew"}); ok {
		hint = fmt.Sprintf("; did you mean %q? Otherwise,", near)
	}
	return notOperation("unknown f %q%s if it acquires, extends or releases the lock, say which (--map %[1]s=extend); "+
		"if it does nothing to the lock, leave it out (--only acquire,extend,release)", t, hint)
}
