package forks

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// firstPrompt is what the fork's agent is sent first: what the user says, or once more
// the prompt of the turn, with the fork's paths as in the rest of the conversation.
func (j *forkJob) firstPrompt() (string, error) {
	if !j.request.Again {
		return j.request.Prompt, nil
	}
	prompt, err := j.promptOfTurn()
	if err != nil {
		return "", err
	}
	to := j.placedSession.Move
	if to.NewRoot == "" {
		if to, err = j.planMove(sessions.Rewrite{}); err != nil {
			return "", err
		}
	}
	return jsonlines.RewritePaths(prompt, to), nil
}

// promptOfTurn is the prompt of the turn that is forked.
func (j *forkJob) promptOfTurn() (string, error) {
	steps, err := j.moment.Project.TurnSnapshots(j.moment.Tip.ID, j.moment.Snapshot.Turn)
	if err != nil {
		return "", err
	}
	for _, s := range steps {
		info, err := j.moment.Project.ReadSnapshotInfo(s.Snapshot)
		if err != nil {
			return "", err
		}
		if info.Prompt != "" {
			return j.wholePrompt(info.Prompt, steps), nil
		}
	}
	return "", missions.Errorf(missions.KindNotFound, "give it with --prompt", "no prompt is known of turn %d of %s", j.moment.Snapshot.Turn, j.moment.Name)
}

// wholePrompt is a turn's prompt with the secrets that records have left out, as the
// conversation has it; without them if no conversation does.
func (j *forkJob) wholePrompt(kept string, steps []projects.NumberedSnapshot) string {
	if !projects.IsRedacted(kept) {
		return kept
	}
	for _, s := range slices.Backward(steps) {
		c, err := j.forker.conversations.ReadConversation(j.moment.Mission, s.Snapshot)
		if err != nil {
			continue
		}
		for _, turn := range slices.Backward(c.Turns) {
			if projects.RedactText(turn.Prompt) == kept {
				return turn.Prompt
			}
		}
	}
	return kept
}
