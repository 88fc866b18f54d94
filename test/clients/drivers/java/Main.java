import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.internal.LazilyParsedNumber;
import java.lang.reflect.InvocationTargetException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Sends each case of cases.json by a class, and prints a line for each. */
public class Main {
  /** A client. The line that it returns has the status, the headers and the response. */
  interface Client {
    JsonObject send(Case given) throws Exception;
  }

  /** The generated code has no such operation. */
  static class Missing extends Exception {}

  /** A call of cases.json, with its operation in the document. */
  record Case(JsonObject json, String path, String method, JsonObject operation) {
    String operationId() {
      return json.get("operation").getAsString();
    }

    JsonObject arguments() {
      return json.has("arguments") ? json.getAsJsonObject("arguments") : new JsonObject();
    }

    boolean hasBody() {
      return json.has("body");
    }

    /** Returns the media type of the body. */
    String mediaType() {
      if (json.has("mediaType")) return json.get("mediaType").getAsString();
      return operation.getAsJsonObject("requestBody").getAsJsonObject("content").keySet().iterator().next();
    }

    JsonObject credentials() {
      return json.has("credentials") ? json.getAsJsonObject("credentials") : new JsonObject();
    }

    /** Returns a token or a key, or null. */
    String credential(String scheme) {
      return credentials().has(scheme) ? credentials().get(scheme).getAsString() : null;
    }
  }

  static final Gson gson = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

  public static void main(String[] args) throws Exception {
    JsonObject document = read(args[1]).getAsJsonObject();
    String baseUrl = args[3];
    Client client =
        (Client) Class.forName(args[0]).getConstructor(String.class, JsonObject.class).newInstance(baseUrl, document);
    for (JsonElement each : read(args[2]).getAsJsonArray()) {
      JsonObject given = each.getAsJsonObject();
      String operation = given.get("operation").getAsString();
      String name = URLEncoder.encode(given.get("case").getAsString(), StandardCharsets.UTF_8).replace("+", "%20");
      URI control = URI.create(args[4] + "/" + operation + "/" + name);
      ((HttpURLConnection) control.toURL().openConnection()).getResponseCode();
      String line = gson.toJson(lineOf(client, find(document, given)));
      System.out.println(line.replace(baseUrl, ""));
    }
    System.exit(0);
  }

  private static JsonElement read(String file) throws Exception {
    return JsonParser.parseString(Files.readString(Path.of(file)));
  }

  private static Case find(JsonObject document, JsonObject given) {
    for (Map.Entry<String, JsonElement> path : document.getAsJsonObject("paths").entrySet())
      for (Map.Entry<String, JsonElement> method : path.getValue().getAsJsonObject().entrySet()) {
        JsonObject operation = method.getValue().getAsJsonObject();
        if (operation.get("operationId").equals(given.get("operation")))
          return new Case(given, path.getKey(), method.getKey().toUpperCase(), operation);
      }
    throw new IllegalArgumentException("the document has no " + given.get("operation"));
  }

  private static JsonObject lineOf(Client client, Case given) {
    JsonObject line = new JsonObject();
    line.add("operation", given.json().get("operation"));
    line.add("case", given.json().get("case"));
    line.addProperty("sent", true);
    try {
      client.send(given).entrySet().forEach(member -> line.add(member.getKey(), member.getValue()));
    } catch (Missing missing) {
      line.addProperty("missing", true);
    } catch (Exception thrown) {
      Throwable cause = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
      line.addProperty("sent", false);
      // The other lines of a message have headers, which differ in each run.
      line.addProperty("error", String.valueOf(cause).split("\n")[0]);
    }
    return line;
  }

  /** Returns a value of cases.json as JSON has it. Files keep their tag. */
  static JsonElement untag(JsonElement value) {
    if (value instanceof JsonArray items) {
      JsonArray untagged = new JsonArray();
      items.forEach(item -> untagged.add(untag(item)));
      return untagged;
    }
    if (!(value instanceof JsonObject members) || members.has("$file")) return value;
    for (String tag : List.of("$date", "$dateTime", "$bytes")) if (members.has(tag)) return members.get(tag);
    if (members.has("$int64"))
      return new JsonPrimitive(new LazilyParsedNumber(members.get("$int64").getAsString()));
    JsonObject untagged = new JsonObject();
    members.entrySet().forEach(member -> untagged.add(member.getKey(), untag(member.getValue())));
    return untagged;
  }

  /** Returns a line of a response. */
  static JsonObject line(int status, Map<String, List<String>> headers, JsonElement response) {
    JsonObject line = new JsonObject();
    line.addProperty("status", status);
    JsonObject fields = new JsonObject();
    if (headers != null)
      headers.forEach((name, values) -> {
        if (name != null) fields.addProperty(name, String.join(", ", values));
      });
    line.add("headers", fields);
    if (response != null && response != JsonNull.INSTANCE) line.add("response", response);
    return line;
  }

  /** Returns the value of a text of JSON, or the text. */
  static JsonElement decoded(String text) {
    if (text == null || text.isEmpty()) return null;
    try {
      return JsonParser.parseString(text);
    } catch (RuntimeException notJson) {
      return new JsonPrimitive(text);
    }
  }

  /** Returns bytes with their tag. */
  static JsonElement bytes(byte[] content) {
    JsonObject tagged = new JsonObject();
    tagged.addProperty("$bytes", java.util.Base64.getEncoder().encodeToString(content));
    return tagged;
  }
}
