package missions

// Minus is a tally without one that it holds.
func (t Tally) Minus(o Tally) Tally {
	return t.Plus(Tally{
		Prompts: -o.Prompts, Tools: -o.Tools, Input: -o.Input, Output: -o.Output,
		Compactions: -o.Compactions, Resets: -o.Resets, Cost: -o.Cost,
	})
}
