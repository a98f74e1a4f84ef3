package votes

import "testing"

// A key is there while the clock reads the time of its end or less, as in Redis (keyIsExpired in db.c).
func TestKeysRunOut(t *testing.T) {
	var m Memory
	m.Set("ends", "v", 10)
	m.Set("stays", "v", 0)
	for now, want := range map[int64]bool{9: true, 10: true, 11: false} {
		if k, there := m.Get("ends", now); there != want || there && k != (Key{Value: "v", Until: 10}) {
			t.Errorf("at %d: %+v, %v", now, k, there)
		}
		if _, there := m.Get("stays", now); !there {
			t.Errorf("at %d a key without an end is gone", now)
		}
	}
	m.Forget(func(key string) bool { return key == "stays" })
	if _, there := m.Get("stays", 0); there {
		t.Error("it is not forgotten")
	}
}
