// A small client of the typed service: prompts and slash commands in, what the agent does out.
//
//	AGENA_TOKEN=$(agena token) ./agent
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "example.com/agent/gen/agena/devtool/v1"
	a2a "example.com/agent/gen/lf/a2a/v1"
)

var (
	client pb.DevelopmentToolServiceClient
	ctx    = metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+os.Getenv("AGENA_TOKEN"))
	lines  = bufio.NewScanner(os.Stdin)
)

func input(prompt string) string {
	fmt.Print(prompt)
	if !lines.Scan() {
		os.Exit(0) // A task that runs or waits goes on doing so.
	}
	return strings.TrimSpace(lines.Text())
}

func newID() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		log.Fatal(err)
	}
	return fmt.Sprintf("%x", id)
}

// patiently does it again while the server cannot be reached. Only for what may be sent again.
func patiently(act func() error) error {
	for {
		err := act()
		if status.Code(err) != codes.Unavailable {
			return err
		}
		time.Sleep(time.Second)
	}
}

// start gives the ids of the task and of its context. Leaving the stream cancels nothing: follow reads what happens.
func start(prompt, in string) (string, string, error) {
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	stream, err := client.StartTask(leaving, &pb.StartTaskRequest{Prompt: prompt, ContextId: in, MessageId: newID()})
	if err != nil {
		return "", in, err
	}
	first, err := stream.Recv()
	if err != nil {
		return "", in, err
	}
	return first.Update.TaskId, first.Update.ContextId, nil
}

// command does the same for a slash command, which is a task as well.
func command(line, in string) (string, string, error) {
	words := strings.SplitN(line[1:]+" ", " ", 2)
	done, err := client.ExecuteSlashCommand(ctx, &pb.ExecuteSlashCommandRequest{
		CommandPath: words[:1], Args: strings.TrimSpace(words[1]), ContextId: in,
	})
	if err != nil {
		return "", in, err
	}
	if done.Status == pb.CommandExecutionStatus_FAILED_TO_START {
		fmt.Println(done.Message)
		return "", in, nil
	}
	return done.ExecutionId, done.ContextId, nil
}

// follow shows a task until it has ended. After a cut it goes on behind the last update that was seen.
func follow(task string) error {
	var cursor uint64
	waiting := map[string]*pb.ToolCall{}
	for {
		stream, err := client.FollowTask(ctx, &pb.FollowTaskRequest{TaskId: task, After: cursor})
		for err == nil {
			var told *pb.FollowTaskResponse
			if told, err = stream.Recv(); err == nil {
				err = show(told.Update, waiting)
				cursor = told.Update.Sequence
			}
		}
		if err == io.EOF {
			return nil
		}
		if status.Code(err) != codes.Unavailable {
			return err
		}
		fmt.Printf("(cut off; going on behind %d)\n", cursor)
		time.Sleep(time.Second)
	}
}

// show prints an update. In waiting are the calls that want an answer; a call is whole in every update, so the last counts.
func show(update *pb.TaskUpdate, waiting map[string]*pb.ToolCall) error {
	switch one := update.Update.(type) {
	case *pb.TaskUpdate_Text:
		fmt.Print(one.Text)
	case *pb.TaskUpdate_LiveOutput:
		fmt.Print(one.LiveOutput.Text)
	case *pb.TaskUpdate_Thought:
		fmt.Printf("(%s: %s)\n", one.Thought.Subject, one.Thought.Description)
	case *pb.TaskUpdate_ToolCall:
		call := one.ToolCall
		delete(waiting, call.ToolCallId)
		if call.Status == pb.ToolCallStatus_PENDING && call.ConfirmationRequest != nil {
			waiting[call.ToolCallId] = call
		} else if call.Status > pb.ToolCallStatus_EXECUTING {
			fmt.Println(strings.TrimSpace(fmt.Sprintf("[%s: %s] %s", call.ToolName, call.Status, call.GetError().GetMessage())))
		}
	case *pb.TaskUpdate_Decided:
		delete(waiting, one.Decided.ToolCallId)
	case *pb.TaskUpdate_Status:
		switch state := one.Status.State; state {
		case a2a.TaskState_TASK_STATE_SUBMITTED, a2a.TaskState_TASK_STATE_WORKING:
		case a2a.TaskState_TASK_STATE_INPUT_REQUIRED:
			return asked(update.TaskId, one.Status.Message, waiting)
		default:
			fmt.Printf("\n-- %s\n", strings.TrimSpace(fmt.Sprint(state, " ", update.Error.GetMessage())))
		}
	}
	return nil
}

// asked answers for a task that rests: its calls, or else what it asks in words.
func asked(task string, question *a2a.Message, waiting map[string]*pb.ToolCall) error {
	if len(waiting) == 0 {
		for _, part := range question.GetParts() {
			fmt.Println(part.GetText())
		}
		said := &pb.ContinueTaskRequest{TaskId: task, Prompt: input("? "), MessageId: newID()}
		return patiently(func() error { _, err := client.ContinueTask(ctx, said); return err })
	}
	for _, call := range waiting {
		said := &pb.ConfirmToolCallRequest{TaskId: task, Confirmation: answer(call), MessageId: newID()}
		if err := patiently(func() error { _, err := client.ConfirmToolCall(ctx, said); return err }); err != nil {
			// Somebody else was first, or the call asks for something else by now. The stream tells what holds.
			fmt.Println("not taken:", status.Convert(err).Message())
		}
	}
	return nil
}

// answer asks on the terminal, with the options that the server offers.
func answer(call *pb.ToolCall) *pb.ToolCallConfirmation {
	request := call.ConfirmationRequest
	edit := request.GetFileEditDetails()
	fmt.Printf("\n%s\n%s", call.GetDescription(), edit.GetFormattedDiff())
	if command := request.GetExecuteDetails().GetCommand(); command != "" {
		fmt.Printf("$ %s\n", command)
	}
	options := map[string]*pb.ConfirmationOption{}
	for index, option := range request.Options {
		options[strconv.Itoa(index+1)] = option
		if edit != nil && option.Kind == pb.ConfirmationOptionKind_ALLOW_ONCE {
			options["e"] = option
		}
		fmt.Printf("  %d  %s\n", index+1, option.Name)
	}
	if options["e"] != nil {
		fmt.Println("  e  Edit it first")
	}
	key := input("? ")
	for options[key] == nil {
		key = input("a number, or e where it is offered\n? ")
	}
	// The fingerprint stands for what was shown, so that nothing else can be approved by mistake.
	said := &pb.ToolCallConfirmation{
		ToolCallId: call.ToolCallId, SelectedOptionId: options[key].Id, Fingerprint: &request.Fingerprint,
	}
	switch kind := options[key].Kind; {
	case key == "e":
		content := &pb.ModifiedFileDetails{NewContent: edited(edit)}
		said.ModifiedDetails = &pb.ToolCallConfirmation_FileDetails{FileDetails: content}
	case kind != pb.ConfirmationOptionKind_ALLOW_ONCE && kind != pb.ConfirmationOptionKind_ALLOW_ALWAYS:
		why := input("why? ")
		said.RejectReason = &why
	default:
		for _, question := range request.GetGenericDetails().GetQuestions() {
			for _, choice := range question.Choices {
				fmt.Printf("  - %s\n", choice.Label)
			}
			said.Answers = append(said.Answers, input(question.Question+" "))
		}
	}
	return said
}

// edited is the proposed file, as the user leaves it in an editor.
func edited(edit *pb.FileDiff) string {
	directory, err := os.MkdirTemp("", "edit")
	check(err)
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, edit.FileName)
	check(os.WriteFile(path, []byte(edit.NewContent), 0o600))
	editor := exec.Command("sh", "-c", `${EDITOR:-vi} "$0"`, path)
	editor.Stdin, editor.Stdout, editor.Stderr = os.Stdin, os.Stdout, os.Stderr
	check(editor.Run())
	content, err := os.ReadFile(path)
	check(err)
	return string(content)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	address := os.Getenv("AGENA_ADDRESS")
	if address == "" {
		address = "127.0.0.1:41242"
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	client = pb.NewDevelopmentToolServiceClient(connection)
	for in := ""; ; {
		line, begin, task := input("you> "), start, ""
		if strings.HasPrefix(line, "/") {
			begin = command
		}
		if task, in, err = begin(line, in); err == nil && task != "" {
			err = follow(task)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
}
