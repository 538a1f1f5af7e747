package projects

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// MostOfWord is how much is shown of a word that has a secret in it, in bytes.
const MostOfWord = 160

// MayRecord refuses a command that has a secret in it. Each snapshot keeps its mission's
// command, and whoever gets the snapshots gets the secret. A command that was copied from
// such a refusal has a placeholder, and no secret to run with: it is refused too.
func MayRecord(command []string) error {
	words := wordsWithSecrets(command)
	if len(words) == 0 {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "give it as a variable (NAME=VALUE umbra …, or --env-file FILE) or in a file that the command reads",
		"the command has a secret in it, and each snapshot would keep it: %s", strings.Join(words, " "))
}

// wordsWithSecrets are the words of a command that have secrets in them, each with a
// placeholder for the secret and behind the option that it is the value of.
func wordsWithSecrets(command []string) []string {
	var found []string
	redacted := jsontext.RedactCommand(command)
	has := func(i int) bool { return redacted[i] != command[i] || secrets.Count([]byte(command[i])) > 0 }
	for i, word := range redacted {
		if !has(i) {
			continue
		}
		if i > 0 && strings.HasPrefix(command[i-1], "-") && !has(i-1) {
			found = append(found, command[i-1])
		}
		if len(word) > MostOfWord {
			word = strings.ToValidUTF8(word[:MostOfWord], "") + "…"
		}
		found = append(found, home.ShellQuote(word))
	}
	return found
}
