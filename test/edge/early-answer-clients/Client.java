import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Sends uploads with HttpClient: Client.java URL TOKEN BYTES TRIES prints the status or the error of each try. */
class Client {
    public static void main(String[] given) throws Exception {
        byte[] body = new byte[Integer.parseInt(given[2])];
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(given[0]))
            .header("Authorization", "Bearer " + given[1])
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
        for (int i = 0; i < Integer.parseInt(given[3]); i++) {
            try {
                System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
            } catch (Exception error) {
                System.out.println(error);
            }
        }
    }
}
