package projects

// TurnNumbering is how the turns of an agent that was launched without hooks are numbered: the
// prompt after the first Prompts of the session begins the turn after Turn. That is the
// same however often it is asked, so that a snapshot which fails numbers none twice. At the
// launch it is empty.
type TurnNumbering struct {
	Session     string `json:"session,omitempty"`
	Turn        int    `json:"turn"`
	Prompts     int    `json:"prompts"`
	SeenPrompts int    `json:"seen"` // prompts of the session, when it was counted last
}
