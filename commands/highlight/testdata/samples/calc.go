// Package calc adds up.
package calc

import "fmt"

/*
A sum of

	several lines.
*/
type Sum[T int | float64] struct {
	Total T `json:"total,omitempty"`
}

// Add adds.
func (s *Sum[T]) Add(values ...T) error {
	const limit = 0x_ff
	for i, v := range values {
		if v < 0 {
			return fmt.Errorf("value %d is %v: \"too small\"", i, v)
		}
		s.Total += v // π ≈ 3.14
	}
	raw := `raw
"text"`
	_ = raw
	return nil
}
