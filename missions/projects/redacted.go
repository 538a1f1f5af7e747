package projects

import (
	"cmp"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// What an agent and its user say goes into subjects of commits, records, names and the
// journal, so it is redacted where it is heard. The conversation is the agent's own file
// and is kept as it is: the agent could not go on with another one.

// RedactText is what was said with a placeholder for each text that looks like a secret.
func RedactText(text string) string { return jsontext.RedactSaid(text) }

// RedactReport is what an agent tells another one with a placeholder for each text that
// is certainly a secret: the original is kept nowhere.
func RedactReport(text string) string { return jsontext.RedactReported(text) }

// RedactPart is text[start:end] without what looks like a secret in the whole text: a line
// of a private key alone does not.
func RedactPart(text []byte, start, end int) string {
	return string(secrets.RedactPart(text, start, end))
}

// IsRedacted reports whether something is left out of a text.
func IsRedacted(text string) bool { return secrets.Count([]byte(text)) > 0 }

// RedactTarget is what a tool is used on, a path or a command line, with placeholders for
// secrets, as RedactCommand leaves them in a mission's own command.
func RedactTarget(target string) string { return jsontext.RedactTyped(target) }

// SetFirstPrompt has a prompt sent to the mission's agent when it is launched for the
// first time. With a secret in it, it stands whole only in what is known beyond the
// record, until it was sent; the record, which every snapshot keeps, has it redacted.
func (m *Mission) SetFirstPrompt(prompt string) {
	m.hidesPastLive = m.hidesPastLive || m.Live.FirstPrompt != ""
	m.Stored.FirstPrompt, m.Live.FirstPrompt = RedactText(prompt), ""
	if m.Stored.FirstPrompt != prompt {
		m.Live.FirstPrompt = prompt
	}
}

// WholeFirstPrompt is what SetFirstPrompt was given.
func (m *Mission) WholeFirstPrompt() string { return cmp.Or(m.Live.FirstPrompt, m.Stored.FirstPrompt) }

// HoldSentPrompt holds the prompt that a launch sends until it is known whether the agent
// has taken it; "" lets go of it.
func (m *Mission) HoldSentPrompt(prompt string) {
	m.hidesPastLive = m.hidesPastLive || m.Live.SentPrompt != ""
	m.Live.SentPrompt = prompt
}

// mostNaming is how much of a prompt is looked at for a name.
const mostNaming = 4096

// NameFromPrompt is missions.NameFromPrompt without what may be a secret: the name becomes
// that of a branch.
func NameFromPrompt(prompt string) string {
	kept := string(secrets.Redact([]byte(prompt))) // whole: no half of a secret is left
	if len(kept) > mostNaming {
		kept = kept[:max(0, strings.LastIndexAny(kept[:mostNaming], " \t\r\n"))]
	}
	kept = string(secrets.OmitPlaceholders([]byte(jsontext.RedactTyped(kept))))
	return missions.NameFromPrompt(jsontext.OmitLikePasswords(kept))
}
