package rules

import (
	"strings"

	"redlocksim/redlock/driver"
)

// keys has the keys that the lock's clients may name to nodes, each with its resource: none if it is of all.
type keys map[string]string

// keysOf are those that the lock's protocol declares.
func keysOf(r *Run) keys {
	declared := keys{}
	for _, resource := range r.Resources {
		for _, key := range r.Lock.KeysOf(resource) {
			if _, shared := declared[key]; shared {
				declared[key] = ""
			} else {
				declared[key] = resource
			}
		}
	}
	return declared
}

// resourceOf is the resource that a key is for, and whether it is a key of the lock. Nobody declares the keys of a lock of the
// caller's own: there it is the longest name of a resource that is in the key.
func (r *Run) resourceOf(key string) (resource string, known bool) {
	if !r.Foreign {
		resource, known = r.keys[key]
		return resource, known
	}
	if key == driver.GuardKey { // the caller's may be the library
		return "", true
	}
	for _, name := range r.Resources {
		if strings.Contains(key, name) && len(name) > len(resource) {
			resource, known = name, true
		}
	}
	return resource, known
}

// resource is that for which a key stands that stands for one.
func (r *Run) resource(key string) string {
	resource, _ := r.World.LockOf(key)
	return resource
}

// about is what a command with these keys is about: the only resource, or that of the first key that has one.
func (r *Run) about(keys []string) string {
	if len(r.Resources) == 1 {
		return r.Resources[0]
	}
	for _, key := range keys {
		if resource, _ := r.resourceOf(key); resource != "" {
			return resource
		}
	}
	return ""
}
