package redlock

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
)

// keysOf sorts the resources, so that the same ones are always the same lock, and rejects what cannot be one.
func (s *settings) keysOf(resources []string) ([]string, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("%w: no resource", ErrInvalid)
	}
	keys := slices.Clone(resources)
	slices.Sort(keys)
	for i, key := range keys {
		switch {
		case key == "":
			return nil, fmt.Errorf("%w: empty resource", ErrInvalid)
		case len(key) > maxResource:
			return nil, fmt.Errorf("%w: resource %q is longer than %d bytes", ErrInvalid, printable.Short(key, shownName), maxResource)
		case i > 0 && key == keys[i-1]:
			return nil, fmt.Errorf("%w: resource %q is named twice", ErrInvalid, printable.Short(key, shownName))
		case s.isConditional() && !driver.IsLockKey(key):
			return nil, fmt.Errorf("%w: resource %q has a name that fencing and the restart guard keep for themselves", ErrInvalid, printable.Short(key, shownName))
		}
	}
	return keys, nil
}

// maxResource is the longest name of a resource, in bytes.
const maxResource = 4096

// nameOf is the name of a lock on some keys.
func nameOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return strings.Join(keys, ", ")
}
