package redlock

// remembered is how many entries a generation of recent has.
const remembered = 2048

// recent is a map that forgets what was not put for long: it keeps the last 2048 entries, and at most twice as many. The zero
// value is ready for use; its owner's lock guards it.
type recent[K comparable, V any] struct{ newer, older map[K]V }

func (r *recent[K, V]) get(key K) (V, bool) {
	if v, is := r.newer[key]; is {
		return v, true
	}
	v, is := r.older[key]
	return v, is
}

func (r *recent[K, V]) put(key K, v V) {
	if r.newer == nil || len(r.newer) == remembered {
		if _, is := r.newer[key]; !is {
			r.newer, r.older = map[K]V{}, r.newer
		}
	}
	r.newer[key] = v
}
