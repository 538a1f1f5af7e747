package missions

// AskedCommand is what a person has typed for Umbra where the agent's prompt
// goes. Whoever called the hook carries it out, with Mission for the default
// one, and answers by CommandReply.
type AskedCommand struct {
	Words string `json:"words"` // as they were typed
}
