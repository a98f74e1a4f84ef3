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

// lockModel is a lock that so many can hold.
func lockModel(permits int) porcupine.Model {
	if permits == 1 {
		return mutexModel
	}
	return permitModel(permits)
}

// permitModel is a semaphore: its state is who holds a permit, and how often.
func permitModel(permits int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []mutex(nil) },
		Step: func(state, input, _ any) (bool, any) {
			held, in := state.([]mutex), input.(lockInput)
			i, holds := slices.BinarySearchFunc(held, in.owner, func(m mutex, owner int) int { return cmp.Compare(m.owner, owner) })
			free := holds || len(held) < permits
			switch in.act {
			case take:
				held = slices.Clone(held)
				if !holds {
					held = slices.Insert(held, i, mutex{owner: in.owner})
				}
				held[i].depth++
				return free, held
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
		Equal: func(a, b any) bool { return slices.Equal(a.([]mutex), b.([]mutex)) },
	}
}
