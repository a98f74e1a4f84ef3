package checker

import "github.com/anishathalye/porcupine"

// Linearizable asks porcupine whether some order of ops, each at an instant within its call and return, is one that the
// model allows. It keeps to the bounds that [Check] keeps to: maxOperations as in [Options], and a number of states.
// Where they are too narrow it says why, and legal means nothing.
func Linearizable(m porcupine.Model, ops []porcupine.Operation, maxOperations int) (legal bool, undecided string) {
	found, why := linearizable(m, ops, Options{MaxOperations: maxOperations})
	return found == yes, why
}
