package foreign

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"redlocksim/checker"
)

// Model is the kind of lock a history is judged as.
type Model string

const (
	// Mutex has no owners: an acquire succeeds when the lock is free, a release when it is held, whoever calls. It is
	// Jepsen's mutex (knossos.model/mutex). An extend succeeds when the lock is held.
	Mutex Model = "mutex"
	// Owner is a mutex that only the process which acquired it can release or extend, and that nobody, the holder
	// included, can acquire while it is held.
	Owner Model = "owner"
	// Reentrant is an Owner whose holder can acquire again, and has to release as often as it acquired.
	Reentrant Model = "reentrant"
	// Fenced is an Owner whose acquire returns a token, higher than that of every grant before.
	Fenced Model = "fenced"
	// ReentrantFenced is a Reentrant whose acquire returns a token: a new hold has a higher one than every hold before,
	// and who acquires again while holding gets that of its hold.
	ReentrantFenced Model = "reentrant-fenced"
	// Lease is an Owner that others can take the lock from, from a given time after its acquire, or last extend, was
	// called.
	Lease Model = "lease"
)

// Models lists the models. docs/histories.md defines what each allows.
func Models() []Model { return []Model{Mutex, Owner, Reentrant, Fenced, ReentrantFenced, Lease} }

// reentrant reports whether the holder can acquire again.
func (m Model) reentrant() bool { return m == Reentrant || m == ReentrantFenced }

// fenced reports whether grants have tokens.
func (m Model) fenced() bool { return m == Fenced || m == ReentrantFenced }

// isPlain reports whether a lock can be judged that several can hold, of Mutex only a semaphore, and with clocks that differ:
// with a token, the order of two acquires would matter, and could not be known.
func (m Model) isPlain() bool { return !m.reentrant() && !m.fenced() }

// unknownToken is what stands for a token that the client was not told, as Hazelcast's FencedLock does.
const unknownToken = -1

// Format is how a history is written down.
type Format string

const (
	// EDN is Jepsen's history.edn: maps one after the other, or in one vector or list.
	EDN Format = "edn"
	// JSON is the same in JSON: objects one after the other, or in one array.
	JSON Format = "json"
)

// Grouping is how the operations of a history are told apart by the lock they are on.
type Grouping string

const (
	// ByNameIfAny is ByKey if the operations name a lock in a way that cannot be meant otherwise, a field of their own,
	// a pair or a map, and OneLock if none does. A history in which some do and some do not is refused.
	ByNameIfAny Grouping = "auto"
	// OneLock: all operations are on the same lock.
	OneLock Grouping = "none"
	// ByKey: every operation names its lock. The name is, in this order: the field key, lock, name or resource of the
	// operation; the first of a value that is a pair, as Jepsen's independent keys are; the field key, lock, name or
	// resource of a value that is a map; a value that is a text or keyword. The call or the return may leave it out.
	ByKey Grouping = "key"
)

// Groupings lists the groupings.
func Groupings() []Grouping { return []Grouping{ByNameIfAny, OneLock, ByKey} }

// Options say how a history is to be read and judged.
type Options struct {
	// Model is needed.
	Model Model
	// Lease is how long a lease lasts where the history does not say; for the models Lease, which needs it unless every
	// acquire says it, and Fenced, whose holds end only by a release without it.
	Lease time.Duration
	// Unit is what numbers count that are times, or lengths of leases whose field does not say: s, ms, µs or ns. Zero means
	// that times count nanoseconds, or since 1970 what their size shows; lengths must then have a unit.
	Unit time.Duration
	// Map says of functions which of those that are known they are, as extend.
	Map map[string]string
	// Group: empty means ByNameIfAny.
	Group Grouping
	// Keys are the locks to judge, where operations name theirs; empty means all. Only are the functions to judge, as the
	// file names them; empty means all, and that an unknown one is an error. The rest is passed over and counted.
	Keys, Only []string
	// Sort puts the lines in the order of their times, which all must have, and leaves indexes alone. Otherwise they must
	// be in order.
	Sort bool
	// ClockError is how far the clocks of two processes may differ. Events that are no further apart may have happened in
	// either order. Every line then needs a time. For the models Mutex, Owner and Lease.
	ClockError time.Duration
	// Semaphores are the locks that so many may hold at a time. Where a history does not name its lock, one of any name
	// is that lock. They are for the models Mutex, Owner and Lease, and no process may hold one twice.
	Semaphores []checker.Semaphore
}

// leased reports whether holds end by themselves.
func (o *Options) leased() bool { return o.Model == Lease || o.Model == Fenced && o.Lease > 0 }

func (o *Options) validate() error {
	if err := o.validateWords(); err != nil {
		return err
	}
	for _, s := range o.Semaphores {
		if s.Permits < 1 {
			return fmt.Errorf("%w: semaphore %q: want at least one permit, not %d", ErrOptions, s.Name, s.Permits)
		}
	}
	switch {
	case o.Model == "":
		return fmt.Errorf("%w: a history does not say what kind of lock it is of, so a model is needed", ErrModel)
	case !slices.Contains(Models(), o.Model):
		return fmt.Errorf("%w: there is no model %q", ErrModel, o.Model)
	case !slices.Contains(Groupings(), o.Group):
		return fmt.Errorf("%w: there is no grouping %q", ErrOptions, o.Group)
	case len(o.Keys) > 0 && o.Group == OneLock:
		return fmt.Errorf("%w: if all operations are on one lock, none can be chosen by key", ErrOptions)
	case o.Lease != 0 && o.Model != Lease && o.Model != Fenced:
		return fmt.Errorf("%w: the length of the lease is for the models lease and fenced; %s",
			ErrOptions, o.leaseless())
	case o.ClockError > 0 && !o.Model.isPlain():
		return fmt.Errorf("%w: clocks may differ in the models mutex, owner and lease; %s depends on the order of every two operations",
			ErrOptions, o.Model)
	}
	return nil
}

// leaseless says why a model has no leases.
func (o *Options) leaseless() string {
	if o.Model.reentrant() {
		return fmt.Sprintf("with %s, nobody knows how often a lock must be released whose lease was over in between",
			o.Model)
	}
	return fmt.Sprintf("with %s, a hold lasts until it is released", o.Model)
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
			return fmt.Errorf("%w: %q cannot stand for %q: must be acquire, extend or release, "+
				"or of a read-write lock, as read-lock, or with tokens write",
				ErrOptions, from, o.Map[from])
		}
	}
	for _, f := range o.Only {
		if _, known := o.meaningOf(f); !known {
			return fmt.Errorf("%w: %q is no operation on a lock; there are acquire, extend and release, "+
				"and their synonyms", ErrOptions, f)
		}
	}
	return nil
}
