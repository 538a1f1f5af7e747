;;; umbra.el --- Umbra in Emacs: what is saved is kept  -*- lexical-binding: t -*-
;; Version: 1.0
;; Package-Requires: ((emacs "27.1"))

;;; Commentary:
;; `umbra hooks uninstall emacs' removes this file.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'seq)

(defgroup umbra nil "Umbra keeps what is saved." :group 'tools)

(defcustom umbra-command @umbra@
  "The umbra that is called."
  :type 'string)

(defconst umbra--quiet 0.15 "Seconds without a save before Umbra is told of those before.")
(defconst umbra--pause 2.0 "Seconds between two tellings, however often files are saved.")
(defconst umbra--most 500 "Files that Umbra is told of at once: a command line has an end.")

(defvar umbra--saves nil "The files that were saved and not told of yet, the last first.")
(defvar umbra--timer nil "What tells of them.")
(defvar umbra--first 0.0 "When the first of them was saved.")
(defvar umbra--told 0.0 "When Umbra was told the last time.")

(defun umbra--tell (event paths)
  "Tell Umbra of EVENT at PATHS.  Nothing is waited for, and no error is Emacs's."
  (ignore-errors
    (let ((default-directory "/"))
      (apply #'call-process umbra-command nil 0 nil "hook" "emacs" event
             (seq-take paths umbra--most)))))

(defun umbra--delay (now first told)
  "How long a save waits for others from NOW on.
FIRST is when the first that waits was made, TOLD when Umbra was told the last time."
  (max 0 (- (min (max (+ now umbra--quiet) (+ told umbra--pause)) (+ first umbra--pause)) now)))

(defun umbra--saved ()
  "Have Umbra told of this buffer's file.
What is saved within a moment is told of together, so that to save all is one
snapshot, and so are the saves of a mode that saves whenever something changes."
  (when (and buffer-file-name (not (file-remote-p buffer-file-name)))
    (let ((now (float-time)))
      (unless (and umbra--saves (<= umbra--first now)) ; a clock may be set back
        (setq umbra--first now))
      (when (> umbra--told now)
        (setq umbra--told now))
      (cl-pushnew (expand-file-name buffer-file-name) umbra--saves :test #'equal)
      (when umbra--timer
        (cancel-timer umbra--timer))
      (setq umbra--timer (run-at-time (umbra--delay now umbra--first umbra--told) nil #'umbra--flush)))))

(defun umbra--flush ()
  "Tell of what was saved, and return the files."
  (when umbra--timer
    (cancel-timer umbra--timer)
    (setq umbra--timer nil))
  (let ((files (nreverse umbra--saves)))
    (setq umbra--saves nil)
    (when files
      (setq umbra--told (float-time))
      (umbra--tell "save" files))
    files))

(defun umbra--left ()
  "Tell what was saved, or that Emacs ends: one snapshot of a place is enough."
  (let ((here (expand-file-name (or (bound-and-true-p command-line-default-directory) default-directory))))
    (unless (or (seq-some (lambda (file) (string-prefix-p (file-name-as-directory here) file)) (umbra--flush))
                (file-remote-p here))
      (umbra--tell "leave" (list here)))))

;;;###autoload
(define-minor-mode umbra-mode
  "Tell Umbra what is saved, and when Emacs ends."
  :global t
  (if umbra-mode
      (progn (add-hook 'after-save-hook #'umbra--saved)
             (add-hook 'kill-emacs-hook #'umbra--left))
    (remove-hook 'after-save-hook #'umbra--saved)
    (remove-hook 'kill-emacs-hook #'umbra--left)))

(defun umbra--call (buffer &rest args)
  "Write what umbra says to ARGS into BUFFER.  If it fails, signal what it said."
  (let ((complaint (make-temp-file "umbra")))
    (unwind-protect
        (unless (eq 0 (apply #'call-process umbra-command nil (list buffer complaint) nil
                             "--quiet" "--color" "never" args))
          (user-error "%s" (with-temp-buffer
                             (insert-file-contents complaint)
                             (string-trim (buffer-string)))))
      (delete-file complaint))))

(defun umbra--show (verb &rest args)
  (let ((here default-directory)
        (buffer (get-buffer-create (format "*umbra %s*" verb))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (setq default-directory here)
        (apply #'umbra--call buffer verb args)
        (goto-char (point-min)))
      (special-mode))
    (pop-to-buffer buffer)))

(defun umbra-status ()
  "Show what Umbra knows of this place."
  (interactive)
  (umbra--show "status"))

(defun umbra-log ()
  "Show the log of the mission that works here."
  (interactive)
  (umbra--show "log"))

(defun umbra-snapshot (text)
  "Take a snapshot of what is written, called TEXT."
  (interactive "sSnapshot: ")
  (with-temp-buffer
    (apply #'umbra--call t "snapshot" (unless (string= text "") (list "-m" text)))
    (message "umbra: snapshot %s" (buffer-substring 1 (min 11 (point-max))))))

(declare-function make-term "term")
(declare-function term-mode "term")
(declare-function term-char-mode "term")

(defun umbra-timeline ()
  "Open the timeline."
  (interactive)
  (require 'term)
  (with-current-buffer (make-term "umbra timeline" umbra-command nil "timeline")
    (term-mode)
    (term-char-mode)
    (pop-to-buffer (current-buffer))))

(defun umbra--moments ()
  "The moments that there are, with what each is about."
  (with-temp-buffer
    (umbra--call t "complete" "fish" "--" "cat" "")
    (goto-char (point-min))
    (forward-line 1)                    ; the first is for a shell
    (mapcar (lambda (line) (split-string line "\t"))
            (split-string (buffer-substring (point) (point-max)) "\n" t))))

(defun umbra--ask-moment ()
  (let ((moments (umbra--moments)))
    (list (completing-read
           "Moment: "
           (lambda (string predicate action)
             (if (eq action 'metadata)
                 `(metadata (display-sort-function . identity)
                            (annotation-function
                             . ,(lambda (moment) (concat "  " (cadr (assoc moment moments))))))
               (complete-with-action action moments string predicate)))))))

(defun umbra--was (moment)
  "A buffer with the file of this one as it was at MOMENT."
  (unless buffer-file-name
    (user-error "This buffer has no file"))
  (let* ((file buffer-file-name)
         (mode major-mode)
         (coding-system-for-read buffer-file-coding-system)
         (buffer (generate-new-buffer (format "%s at %s" (file-name-nondirectory file) moment))))
    (condition-case err
        (umbra--call buffer "cat" moment (expand-file-name file))
      (error (kill-buffer buffer)
             (signal (car err) (cdr err))))
    (with-current-buffer buffer
      (delay-mode-hooks (funcall mode))
      (goto-char (point-min))
      (set-buffer-modified-p nil)
      (setq buffer-read-only t))
    buffer))

(defun umbra-open (moment)
  "Open this file as it was at MOMENT."
  (interactive (umbra--ask-moment))
  (pop-to-buffer (umbra--was moment)))

(defun umbra-diff (moment)
  "Compare this file as it was at MOMENT with this buffer."
  (interactive (umbra--ask-moment))
  (diff-buffers (umbra--was moment) (current-buffer)))

(defun umbra--author ()
  "Who wrote the line that point is on."
  (unless buffer-file-name
    (user-error "This buffer has no file"))
  (when (buffer-modified-p)
    (user-error "Save the file first: its lines are counted as they are written"))
  (let ((range (format "%d,+1" (line-number-at-pos nil t)))
        (file (expand-file-name buffer-file-name)))
    (with-temp-buffer
      (condition-case err
          (umbra--call t "blame" "--json" "-L" range file)
        (user-error (let ((said (cadr err)))
                      (user-error "%s" (if (string-prefix-p "{\"error\"" said)
                                           (umbra--in '(error message) (umbra--parse said))
                                         said)))))
      (or (car (umbra--in '(lines) (umbra--parse (buffer-string))))
          (user-error "There is no such line")))))

(defun umbra--parse (text)
  (let ((json-object-type 'alist) (json-array-type 'list))
    (json-read-from-string text)))

(defun umbra--in (keys object)
  (dolist (key keys object)
    (setq object (alist-get key object))))

(defun umbra--origin (line)
  "What is said of LINE: where it comes from, by whom and when, and why."
  (cl-flet ((said (key) (let ((text (alist-get key line))) (if (equal text "") nil text))))
    (let* ((at (alist-get 'at line))
           (by (or (and (said 'commit) (substring (said 'commit) 0 10)) (said 'address) (said 'message)))
           (why (or (said 'prompt) (said 'message)))
           (who (delq nil (list (said 'agent) (unless (string-prefix-p "0001" at) (substring at 0 10))))))
      (string-join (delq nil (list by (and who (format "(%s)" (string-join who ", ")))
                                   (unless (equal why by) why)))
                   " "))))

(defun umbra-blame ()
  "Say which turn, or commit of yours, wrote the line that point is on."
  (interactive)
  (message "umbra: %s" (umbra--origin (umbra--author))))

(defun umbra-show ()
  "Show the moment that wrote the line that point is on."
  (interactive)
  (let* ((line (umbra--author))
         (snapshot (alist-get 'snapshot line)))
    (when (string= snapshot "")
      (user-error "No snapshot has made this line: %s" (umbra--origin line)))
    (umbra--show "show" snapshot)))

(provide 'umbra)
;;; umbra.el ends here
