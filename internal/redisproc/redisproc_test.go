//go:build unix

package redisproc

import "testing"

// Another process may come to the same number, while nobody listens there.
func TestAnAddressIsGivenOnce(t *testing.T) {
	first := FreeAddr()
	ports.Add(^uint32(0))
	if again := FreeAddr(); again == first {
		t.Errorf("%s was given twice", first)
	}
}
