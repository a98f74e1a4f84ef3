package checker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Semaphore is a lock that so many may hold at a time.
type Semaphore struct {
	Name    string
	Permits int
}

// Has says whether who holds a resource has a permit of the semaphore: it is the semaphore itself, where nobody says which
// permit it is, or one that is numbered behind a slash, also with a number that the semaphore has not.
func (s Semaphore) Has(resource string) bool {
	if resource == s.Name {
		return true
	}
	number, is := strings.CutPrefix(resource, s.Name+"/")
	_, err := strconv.ParseUint(number, 10, 0)
	return is && err == nil
}

// share is what an owner has of a lock: an owner may take it again. A process may if the lock is re-entrant, and a grant with
// an extend that was called before its window ended and answered after, which does not free the lock in between.
type share struct{ owner, depth int }

// lockModel is a lock that so many can hold: its state is who does, and how often.
func lockModel(permits int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []share(nil) },
		Step: func(state, input, _ any) (bool, any) {
			held, in := state.([]share), input.(lockInput)
			i, holds := slices.BinarySearchFunc(held, in.owner, func(s share, owner int) int { return cmp.Compare(s.owner, owner) })
			free := holds || len(held) < permits
			switch in.act {
			case take:
				if !free {
					return false, held
				}
				held = slices.Clone(held)
				if !holds {
					held = slices.Insert(held, i, share{owner: in.owner})
				}
				held[i].depth++
				return true, held
			case leave:
				if !holds {
					return false, held
				}
				held = slices.Clone(held)
				if held[i].depth--; held[i].depth == 0 {
					held = slices.Delete(held, i, i+1)
				}
				return true, held
			}
			return free, held
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]share), b.([]share)) },
	}
}
