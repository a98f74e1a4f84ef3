package checker

import "github.com/anishathalye/porcupine"

// Linearizable asks porcupine whether some order of ops, each at an instant within its call and return, is one that the
// model allows. It keeps to the bounds that [Check] keeps to: maxOperations as in [Options], and numbers of steps and states.
// Where they are too narrow it says why, and legal means nothing.
func Linearizable(m porcupine.Model, ops []porcupine.Operation, maxOperations int) (legal bool, undecided string) {
	found, why := linearizable(m, len(ops), Options{MaxOperations: maxOperations}, func() []porcupine.Operation { return ops })
	return found == yes, why
}
