import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.UnaryOperator;

/** Sends requests by java.net.http.HttpClient, as its users write them. */
public class ByHand implements Main.Client {
  private static final String BOUNDARY = "boundary-8f1c2d";
  private final HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
  private final String baseUrl;

  public ByHand(String baseUrl, JsonObject document) {
    this.baseUrl = baseUrl;
  }

  @Override
  public JsonObject send(Main.Case given) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder().timeout(Duration.ofSeconds(20));
    List<String> cookies = new ArrayList<>();
    StringJoiner query = new StringJoiner("&");
    String path = given.path();
    JsonArray parameters = given.operation().getAsJsonArray("parameters");
    for (JsonElement each : parameters == null ? new JsonArray() : parameters) {
      JsonObject parameter = each.getAsJsonObject();
      String name = parameter.get("name").getAsString();
      if (!given.arguments().has(name)) continue;
      JsonElement value = Main.untag(given.arguments().get(name));
      if (parameter.has("content")) value = new JsonPrimitive(Main.gson.toJson(value));
      String in = parameter.get("in").getAsString();
      String style = parameter.has("style") ? parameter.get("style").getAsString() : in.matches("path|header") ? "simple" : "form";
      boolean explode = parameter.has("explode") ? parameter.get("explode").getAsBoolean() : style.equals("form");
      switch (in) {
        case "path" -> path = path.replace("{" + name + "}", segment(name, value, style, explode));
        case "query" -> pairs(name, value, style, explode).forEach(query::add);
        case "header" -> request.header(name, joined(value, ",", explode, UnaryOperator.identity()));
        default -> {
          if (explode && value instanceof JsonObject members)
            members.entrySet().forEach(member -> cookies.add(member.getKey() + "=" + member.getValue().getAsString()));
          else cookies.add(name + "=" + joined(value, ",", false, UnaryOperator.identity()));
        }
      }
    }
    addCredentials(given, request, query, cookies);
    if (!cookies.isEmpty()) request.header("Cookie", String.join("; ", cookies));
    request.uri(URI.create(baseUrl + path + (query.length() == 0 ? "" : "?" + query)));
    request.method(given.method(), body(given, request));
    return lineOf(client.send(request.build(), BodyHandlers.ofByteArray()));
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String joined(JsonElement value, String delimiter, boolean explode, UnaryOperator<String> encode) {
    StringJoiner parts = new StringJoiner(delimiter);
    if (value instanceof JsonArray items) items.forEach(item -> parts.add(encode.apply(item.getAsString())));
    else if (value instanceof JsonObject members)
      members.entrySet().forEach(member -> {
        String content = encode.apply(member.getValue().getAsString());
        parts.add(encode.apply(member.getKey()) + (explode ? "=" : delimiter) + content);
      });
    else parts.add(encode.apply(value.getAsString()));
    return parts.toString();
  }

  private static String segment(String name, JsonElement value, String style, boolean explode) {
    UnaryOperator<String> encode = ByHand::encode;
    if (style.equals("label")) return "." + joined(value, explode ? "." : ",", explode, encode);
    if (!style.equals("matrix")) return joined(value, ",", explode, encode);
    if (explode && value instanceof JsonObject) return ";" + joined(value, ";", true, encode);
    String prefix = ";" + name + "=";
    return prefix + joined(value, explode ? prefix : ",", false, encode);
  }

  /** Returns the encoded pairs of a query. A list in one pair is joined, then encoded. */
  private static List<String> pairs(String name, JsonElement value, String style, boolean explode) {
    List<String> pairs = new ArrayList<>();
    boolean isDeep = style.equals("deepObject");
    if (value instanceof JsonObject members && (isDeep || explode))
      members.entrySet().forEach(member -> {
        String inner = isDeep ? name + "[" + member.getKey() + "]" : member.getKey();
        pairs.addAll(pairs(inner, member.getValue(), style, explode));
      });
    else if (value instanceof JsonArray items && explode)
      items.forEach(item -> pairs.add(encode(name) + "=" + encode(item.getAsString())));
    else {
      String delimiter = style.equals("spaceDelimited") ? " " : style.equals("pipeDelimited") ? "|" : ",";
      pairs.add(encode(name) + "=" + encode(joined(value, delimiter, false, UnaryOperator.identity())));
    }
    return pairs;
  }

  private static void addCredentials(
      Main.Case given, HttpRequest.Builder request, StringJoiner query, List<String> cookies) {
    if (given.credential("bearer") != null) request.header("Authorization", "Bearer " + given.credential("bearer"));
    if (given.credential("keyHeader") != null) request.header("X-Api-Key", given.credential("keyHeader"));
    if (given.credential("keyQuery") != null) query.add("api_key=" + encode(given.credential("keyQuery")));
    if (given.credential("keyCookie") != null) cookies.add("api_key=" + given.credential("keyCookie"));
    if (given.credentials().has("basic")) {
      JsonObject basic = given.credentials().getAsJsonObject("basic");
      String pair = basic.get("username").getAsString() + ":" + basic.get("password").getAsString();
      request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)));
    }
  }

  private static HttpRequest.BodyPublisher body(Main.Case given, HttpRequest.Builder request) throws Exception {
    if (!given.hasBody()) return BodyPublishers.noBody();
    JsonElement body = Main.untag(given.json().get("body"));
    String mediaType = given.mediaType();
    if (mediaType.startsWith("multipart/")) {
      request.header("Content-Type", mediaType + "; boundary=" + BOUNDARY);
      return BodyPublishers.ofByteArray(form(body.getAsJsonObject()));
    }
    request.header("Content-Type", mediaType);
    if (mediaType.endsWith("-urlencoded")) return BodyPublishers.ofString(String.join("&", fields(body.getAsJsonObject())));
    if (mediaType.equals("application/octet-stream"))
      return BodyPublishers.ofByteArray(Base64.getDecoder().decode(body.getAsString()));
    if (mediaType.startsWith("text/")) return BodyPublishers.ofString(body.getAsString());
    if (!mediaType.equals("application/jsonl")) return BodyPublishers.ofString(Main.gson.toJson(body));
    StringJoiner lines = new StringJoiner("\n", "", "\n");
    body.getAsJsonArray().forEach(item -> lines.add(Main.gson.toJson(item)));
    return BodyPublishers.ofString(lines.toString());
  }

  private static List<String> fields(JsonObject members) {
    List<String> pairs = new ArrayList<>();
    members.entrySet().forEach(member -> pairs.addAll(pairs(member.getKey(), member.getValue(), "form", true)));
    return pairs;
  }

  private static byte[] form(JsonObject members) throws Exception {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (String name : members.keySet()) {
      JsonElement value = members.get(name);
      for (JsonElement item : value instanceof JsonArray items ? items : List.of(value)) {
        StringBuilder part = new StringBuilder("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"" + name + '"');
        if (item instanceof JsonObject object && object.has("$file")) {
          JsonObject file = object.getAsJsonObject("$file");
          part.append("; filename=\"").append(file.get("name").getAsString().replace("\"", "%22"));
          part.append("\"\r\nContent-Type: ").append(file.get("type").getAsString());
          part.append("\r\n\r\n").append(file.get("text").getAsString());
        } else if (item instanceof JsonObject) {
          part.append("\r\nContent-Type: application/json\r\n\r\n").append(Main.gson.toJson(item));
        } else part.append("\r\n\r\n").append(item.getAsString());
        content.write(part.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
      }
    }
    content.write(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8));
    return content.toByteArray();
  }

  private static JsonObject lineOf(HttpResponse<byte[]> response) {
    String mediaType = response.headers().firstValue("content-type").orElse("").replaceAll(";.*", "");
    String text = new String(response.body(), StandardCharsets.UTF_8);
    JsonElement decoded = null;
    if (mediaType.equals("application/octet-stream")) decoded = Main.bytes(response.body());
    else if (mediaType.equals("application/jsonl")) decoded = items(text.lines().toList());
    else if (mediaType.equals("text/event-stream"))
      decoded = items(text.lines().filter(line -> line.startsWith("data:")).map(line -> line.substring(5)).toList());
    else if (mediaType.endsWith("json")) decoded = Main.decoded(text);
    else if (!text.isEmpty()) decoded = new JsonPrimitive(text);
    return Main.line(response.statusCode(), response.headers().map(), decoded);
  }

  private static JsonArray items(List<String> lines) {
    JsonArray items = new JsonArray();
    lines.forEach(line -> items.add(Main.decoded(line)));
    return items;
  }
}
