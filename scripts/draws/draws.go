// Package draws has scripts/fuzz try properties with other draws than those that
// scripts/check tries each time. Only tests import it.
package draws

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Fuzz has the draws of a property fuzzed, led by coverage.
func Fuzz(f *testing.F, property func(*rapid.T)) {
	for seed := range byte(4) {
		draws := make([]byte, 8<<10)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(draws)
		f.Add(draws)
	}
	f.Fuzz(rapid.MakeFuzz(property))
}
