package missions

// Tally is what a conversation says of itself, counted as the agent's file is
// recorded: each snapshot has it, so it comes with the refs. A fork's begins with
// what it inherited, and a restore takes back what it cuts off.
type Tally struct {
	Prompts     int     `json:"prompts"`
	Tools       int     `json:"tools"`
	Input       int64   `json:"input_tokens"` // with those that were cached
	Output      int64   `json:"output_tokens"`
	Compactions int     `json:"compactions"`
	Resets      int     `json:"resets"`             // how often its user began anew, as by /clear
	Cost        float64 `json:"cost_usd,omitempty"` // as far as the agent says it
}

// Plus is two tallies together: of a mission's conversation, and of those that
// its user has left behind.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		Prompts: t.Prompts + o.Prompts, Tools: t.Tools + o.Tools, Input: t.Input + o.Input, Output: t.Output + o.Output,
		Compactions: t.Compactions + o.Compactions, Resets: t.Resets + o.Resets, Cost: t.Cost + o.Cost,
	}
}
