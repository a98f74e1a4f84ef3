package observe

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint stands for a lock value in logs and traces: the first 12 hexadecimal digits of its SHA-256. Whoever has the value
// itself can release the lock.
func Fingerprint(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:6])
}
