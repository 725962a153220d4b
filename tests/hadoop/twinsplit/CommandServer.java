package twinsplit;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ToolRunner;

/**
 * Commands of Hadoop one after the other in one process, for its start takes longer than they do: the other end of the script {@code
 * hadoop} in the folder above.
 *
 * <p>usage: hadoop twinsplit.CommandServer < REQUESTS, in a folder with the pipe {@code answer}; a job links its files there while it runs
 *
 * <p>A request is the id of the process that asks, the number of the words of its command, and the words, each ended by a NUL. What
 * the command says goes to the standard output and error of that process; the answer is a line with the exit code.
 */
public class CommandServer {
  public static void main(String[] none) throws IOException {
    PrintStream log = System.err;
    Scanner requests = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\0");
    while (requests.hasNext()) {
      String process = requests.next();
      String[] words = Stream.generate(requests::next).limit(requests.nextInt()).toArray(String[]::new);
      int code;
      try (PrintStream out = stream(process, 1);
          PrintStream err = stream(process, 2)) {
        System.setOut(out);
        System.setErr(err);
        code = run(words, Path.of("/proc", process, "cwd").toRealPath());
      } finally {
        System.setOut(log);
        System.setErr(log);
      }
      Files.writeString(Path.of("answer"), code + "\n");
    }
  }

  static PrintStream stream(String process, int number) throws IOException {
    OutputStream stream = new FileOutputStream("/proc/" + process + "/fd/" + number, true);
    return new PrintStream(stream, true);
  }

  static int run(String[] words, Path folder) {
    try {
      return switch (words[0]) {
        case "jar" -> job(after(2, words));
        case "fs" -> files(after(1, words), folder);
        default -> throw new IllegalArgumentException(words[0] + ": neither jar nor fs");
      };
    } catch (Exception error) {
      error.printStackTrace();
      return 1;
    }
  }

  /** What HadoopStreaming does, the main class of the streaming jar, before it ends the process. */
  static int job(String[] words) throws Exception {
    Configuration configuration = new Configuration();
    // A map task fills its buffer with zeros first, 100 MB by default.
    configuration.setInt("mapreduce.task.io.sort.mb", 16);
    int code = ToolRunner.run(configuration, new StreamJob(), words);
    if (code != 0) {
      System.err.println("Streaming Command Failed!");
    }
    return code;
  }

  /** In the folder of the process that asks, in which names that do not begin with / are looked up. */
  static int files(String[] words, Path folder) throws Exception {
    String here = System.getProperty("user.dir");
    System.setProperty("user.dir", folder.toString());
    FileSystem.closeAll();
    try {
      return ToolRunner.run(new Configuration(), new FsShell(), words);
    } finally {
      System.setProperty("user.dir", here);
      FileSystem.closeAll();
    }
  }

  static String[] after(int count, String[] words) {
    return Stream.of(words).skip(count).toArray(String[]::new);
  }
}
